import type { Container, LimitRange, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { judgeClaim, judgePod } from './limit-ranger-rules.ts'
import { isFor, refusal } from '../refusal.ts'

const annotation = 'kubernetes.io/limit-ranger'

/** True if limits apply: to new and resized pods, and to every write of a claim. Objects being deleted are exempt. */
function isBound(request: AdmissionRequest): boolean {
  const { operation, subresource, resource, old } = request
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || resource.group !== '' || old?.metadata.deletionTimestamp)
    return false
  if (resource.plural === 'pods') return operation === 'CREATE' ? subresource === '' : subresource === 'resize'
  return isFor(request, '', 'persistentvolumeclaims')
}

const rangesFor = ({ reader, namespace }: AdmissionRequest) => reader.list<LimitRange>('', 'limitranges', namespace)

/** Fills in missing amounts, and returns their names for the annotation. */
function fill(container: Container, field: 'requests' | 'limits', defaults: ResourceList): string[] {
  const missing = Object.keys(defaults)
    .filter((name) => container.resources?.[field]?.[name] === undefined)
    .sort()
  if (missing.length === 0) return []
  const resources = (container.resources ??= {})
  resources[field] = { ...resources[field], ...Object.fromEntries(missing.map((name) => [name, defaults[name]!])) }
  return missing
}

function fillPod(pod: Pod, { spec }: LimitRange): void {
  const items = (spec?.limits ?? []).filter(({ type }) => type === 'Container')
  const requests: ResourceList = Object.assign({}, ...items.map((item) => item.defaultRequest))
  const limits: ResourceList = Object.assign({}, ...items.map((item) => item.default))
  const said: string[] = []
  const fillAll = (containers: readonly Container[] | undefined, what: string) => {
    for (const container of containers ?? []) {
      const [ofLimits, ofRequests] = [fill(container, 'limits', limits), fill(container, 'requests', requests)]
      if (ofRequests.length) said.push(`${ofRequests.join(', ')} request for ${what} ${container.name}`)
      if (ofLimits.length) said.push(`${ofLimits.join(', ')} limit for ${what} ${container.name}`)
    }
  }
  fillAll(pod.spec.containers, 'container')
  fillAll(pod.spec.initContainers, 'init container')
  if (said.length)
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [annotation]: `LimitRanger plugin set: ${said.join('; ')}`,
    }
}

/** Formats distinct problems as Kubernetes' aggregate error does. */
function problemText(problems: readonly string[]): string {
  const distinct = [...new Set(problems)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}

/** Applies the defaults of a namespace's limit ranges to containers, and rejects pods and claims that violate them. */
export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  admit(request) {
    if (!isBound(request) || request.resource.plural !== 'pods') return
    for (const range of rangesFor(request)) fillPod(request.object as Pod, range)
  },
  validate(request) {
    if (!isBound(request)) return
    const isPod = request.resource.plural === 'pods'
    for (const { spec } of rangesFor(request)) {
      const problems = (spec?.limits ?? []).flatMap((item) =>
        isPod ? judgePod(item, request.object as Pod) : judgeClaim(item, request.object as PersistentVolumeClaim),
      )
      if (problems.length) throw refusal(request, problemText(problems))
    }
  },
}
