import type { Pod, PriorityClass } from '../../../api/generated/types.ts'
import { systemPriorityClasses } from '../../resources/scheduling/system-priority-classes.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { isFor, refusal } from '../refusal.ts'

const group = 'scheduling.k8s.io'
const plural = 'priorityclasses'
const noClass = { metadata: {}, value: 0, preemptionPolicy: 'PreemptLowerPriority' } satisfies PriorityClass

/** The default class. If a race has created two, the lower value applies. */
function defaultClass(reader: ObjectReader): PriorityClass | undefined {
  const defaults = reader.list<PriorityClass>(group, plural, '').filter((pc) => pc.globalDefault)
  return defaults.reduce<PriorityClass | undefined>(
    (lowest, pc) => (lowest && lowest.value <= pc.value ? lowest : pc),
    undefined,
  )
}

function classOf(pod: Pod, request: AdmissionRequest): PriorityClass {
  const name = pod.spec.priorityClassName
  if (!name) return defaultClass(request.reader) ?? noClass
  const found = request.reader.get<PriorityClass>(group, plural, '', name)
  if (!found) throw refusal(request, `no PriorityClass with name ${name} was found`)
  return found
}

function admitNewPod(pod: Pod, request: AdmissionRequest): void {
  const { spec } = pod
  const { metadata, value, preemptionPolicy } = classOf(pod, request)
  if (!spec.priorityClassName && metadata.name) spec.priorityClassName = metadata.name
  const computed = (what: string, by: unknown) =>
    `${what} must not be provided in pod spec; priority admission controller computed ${by} from the given PriorityClass name`
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refusal(request, computed(`the integer value of priority (${spec.priority})`, value))
  }
  spec.priority = value
  if (preemptionPolicy === undefined) return
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw refusal(
      request,
      computed(`the string value of PreemptionPolicy (${spec.preemptionPolicy})`, preemptionPolicy),
    )
  }
  spec.preemptionPolicy = preemptionPolicy
}

/** Keeps the priority from creation if an update leaves it out. */
function keepPriority({ spec }: Pod, old: Pod): void {
  if (old.spec.priority !== undefined) spec.priority ??= old.spec.priority
  if (old.spec.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.spec.preemptionPolicy
}

function refuseSecondDefault(pc: PriorityClass, request: AdmissionRequest): void {
  const current = pc.globalDefault ? defaultClass(request.reader) : undefined
  if (!current || (request.operation === 'UPDATE' && current.metadata.name === pc.metadata.name)) return
  throw refusal(
    request,
    `PriorityClass ${current.metadata.name} is already marked as default. Only one default can exist`,
  )
}

/** Resolves the priority of pods from their class. Allows one default class, and protects the system's classes. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  admit(request) {
    if (!isFor(request, '', 'pods')) return
    if (request.operation === 'CREATE') admitNewPod(request.object as Pod, request)
    if (request.operation === 'UPDATE') keepPriority(request.object as Pod, request.old as Pod)
  },
  validate(request) {
    if (!isFor(request, group, plural)) return
    if (request.object) refuseSecondDefault(request.object as PriorityClass, request)
    if (request.operation === 'DELETE' && systemPriorityClasses.some((pc) => pc.metadata.name === request.name)) {
      throw refusal(request, 'this is a system priority class and cannot be deleted')
    }
  },
}
