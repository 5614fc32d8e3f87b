import type { PodSpec } from '../generated/types.ts'
import { type Check, type CheckPod, type CheckVersion, type Objection, checkedPod } from './check.ts'
import { hostChecks } from './host-checks.ts'
import type { Level, LevelVersion } from './policy.ts'
import { profileChecks } from './profile-checks.ts'
import { restrictedChecks } from './restricted-checks.ts'

/** Go sorts by bytes: uppercase letters come first. */
const byId = (a: Check, b: Check) => (a.id < b.id ? -1 : 1)
const rank = ({ level }: Check) => (level === 'baseline' ? 0 : 1)

/** All checks, in the order of their violations. */
export const allChecks: readonly Check[] = [...hostChecks, ...profileChecks, ...restrictedChecks].sort(
  (a, b) => rank(a) - rank(b) || byId(a, b),
)

/** No check has changed since this version, so later versions are equal. */
export const newestVersion = Math.max(...allChecks.flatMap(({ versions }) => versions.map(({ since }) => since)))

const versionOf = ({ versions }: Check, minor: number): CheckVersion | undefined =>
  versions.findLast(({ since }) => since <= minor)

function select(level: Level, minor: number): CheckPod[] {
  if (level === 'privileged') return []
  const chosen = allChecks.flatMap((check) => {
    const version = level === 'baseline' && check.level === 'restricted' ? undefined : versionOf(check, minor)
    return version ? [{ id: check.id, ...version }] : []
  })
  const overridden = new Set(chosen.map(({ overrides }) => overrides))
  return chosen.filter(({ id }) => !overridden.has(id)).map(({ run }) => run)
}

/** The checks of a level by minor version. */
const selected = new Map<string, readonly CheckPod[]>()

function checksOf({ level, version }: LevelVersion): readonly CheckPod[] {
  const minor = Math.min(version, newestVersion)
  const key = `${level} ${minor}`
  const found = selected.get(key) ?? select(level, minor)
  selected.set(key, found)
  return found
}

/** The violations of a level in a pod or pod template; none if it passes. */
export function objectionsTo(
  metadata: { annotations?: Record<string, string> } | undefined,
  spec: PodSpec,
  by: LevelVersion,
): Objection[] {
  const checks = checksOf(by)
  if (checks.length === 0) return []
  const pod = checkedPod(metadata, spec)
  return checks.flatMap((check) => check(pod) ?? [])
}

/** `host namespaces, privileged` */
export const reasonsText = (objections: readonly Objection[]): string =>
  objections.map(({ reason }) => reason).join(', ')

/** `host namespaces (hostPID=true), privileged (container "c" must not …)` */
export const detailsText = (objections: readonly Objection[]): string =>
  objections.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
