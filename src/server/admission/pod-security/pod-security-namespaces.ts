import { invalidObject } from '../../../api/errors.ts'
import type { Namespace, Pod } from '../../../api/generated/types.ts'
import {
  type LevelVersion,
  type Policy,
  type PodSecuritySettings,
  compareLevels,
  isPrivileged,
  isSameLevelVersion,
  isSamePolicy,
  labelPrefix,
  levelVersionText,
  modesSaid,
  objectionsTo,
  policyOf,
  reasonsText,
} from '../../../api/pod-security/index.ts'
import { systemClock, turnsOf } from '../../../base/clock.ts'
import type { AdmissionRequest } from '../admission.ts'

/** Limits on the existing pods that are checked: number and time. */
const podsChecked = 3000
const checkMs = 1000

/** Rejects invalid labels, and warns about existing pods that violate a stricter policy. */
export function checkNamespace(request: AdmissionRequest, settings: PodSecuritySettings): Promise<void> | undefined {
  if (request.subresource !== '') return undefined
  const namespace = request.object as Namespace
  const { policy, errors } = policyOf(namespace.metadata.labels, settings.defaults)
  const before =
    request.operation === 'UPDATE' ? policyOf((request.old as Namespace).metadata.labels, settings.defaults) : undefined
  const isNews = !before || JSON.stringify(before.errors) !== JSON.stringify(errors)
  const name = namespace.metadata.name ?? request.name
  if (errors.length && isNews) throw invalidObject({ group: '', kind: 'Namespace' }, name, errors)
  if (before && !isStricter(policy.enforce, before.policy.enforce)) return undefined
  if (settings.exemptions.namespaces.includes(name)) {
    warnOfExemption(request, name, policy, settings)
    return undefined
  }
  return before ? warnOfPods(request, name, policy.enforce, settings) : undefined
}

/** True if pods admitted by one policy may be rejected by the other. */
function isStricter(now: LevelVersion, before: LevelVersion): boolean {
  if (now.level === 'privileged' || isSameLevelVersion(now, before)) return false
  return now.version !== before.version || compareLevels(now.level, before.level) > 0
}

function warnOfExemption(request: AdmissionRequest, name: string, policy: Policy, settings: PodSecuritySettings): void {
  if (isPrivileged(policy, 'enforce', 'audit', 'warn') || isSamePolicy(policy, settings.defaults)) return
  const said = modesSaid(request.object!.metadata.labels ?? {}, labelPrefix)
    .filter((mode) => policy[mode].level !== 'privileged')
    .map((mode) => `${mode}=${levelVersionText(policy[mode])}`)
  request.warnings.push(
    `namespace ${JSON.stringify(name)} is exempt from Pod Security, ` +
      `and the policy (${said.join(', ')}) will be ignored`,
  )
}

/** Orders pods so that one of each controller comes first, because pods of a controller are likely equal. */
function byController(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const others: Pod[] = []
  const first = pods.filter((pod) => {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    if (uid === undefined || !seen.has(uid)) {
      if (uid !== undefined) seen.add(uid)
      return true
    }
    others.push(pod)
    return false
  })
  return [...first, ...others]
}

/** Pods with the same violations: the first name, and their number. */
interface Found {
  first: string
  count: number
}

/** Checks pods in slices, for at most a second: a namespace may have very many. */
async function warnOfPods(
  request: AdmissionRequest,
  name: string,
  enforce: LevelVersion,
  settings: PodSecuritySettings,
): Promise<void> {
  const { reader, clock = systemClock } = request
  const turns = turnsOf(clock)
  const until = clock.now() + checkMs
  const stored =
    reader.listLazily?.<Pod>('', 'pods', name) ?? reader.list<Pod>('', 'pods', name).map((pod) => () => pod)
  const pods: Pod[] = []
  let total = stored.length
  for (const read of stored) {
    const pod = read()
    if (settings.exemptions.runtimeClasses.includes(pod.spec.runtimeClassName ?? '')) total--
    else pods.push(pod)
    if (turns.isSpent) await turns.next()
    if (clock.now() >= until) break
  }
  const found = new Map<string, Found>()
  let checked = 0
  for (const pod of byController(pods).slice(0, podsChecked)) {
    const reasons = reasonsText(objectionsTo(pod.metadata, pod.spec, enforce))
    if (reasons) count(found, reasons, pod.metadata.name!)
    checked++
    if (turns.isSpent) await turns.next()
    if (clock.now() >= until) break
  }
  request.warnings.push(...sentences(name, enforce, found, checked, total))
}

function count(found: Map<string, Found>, reasons: string, name: string): void {
  const known = found.get(reasons)
  if (!known) found.set(reasons, { first: name, count: 1 })
  else found.set(reasons, { first: name < known.first ? name : known.first, count: known.count + 1 })
}

function sentences(
  namespace: string,
  enforce: LevelVersion,
  found: ReadonlyMap<string, { first: string; count: number }>,
  checked: number,
  total: number,
): string[] {
  const said: string[] = []
  if (checked < total) {
    said.push(`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`)
  }
  if (found.size) {
    const level = JSON.stringify(levelVersionText(enforce))
    said.push(
      `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${level}`,
    )
  }
  const others = (n: number) => (n === 1 ? '' : n === 2 ? ' (and 1 other pod)' : ` (and ${n - 1} other pods)`)
  return [...said, ...[...found].map(([reasons, { first, count: n }]) => `${first}${others(n)}: ${reasons}`).sort()]
}
