import { type FieldError, invalid } from '../validation/field-error.ts'
import { Path } from '../validation/path.ts'

const levels = ['privileged', 'baseline', 'restricted'] as const

/** The levels of the Pod Security Standards, from least to most restrictive. */
export type Level = (typeof levels)[number]

/** A minor version of Kubernetes 1 whose checks apply. `latest` is above all of them. */
export type PolicyVersion = number

export const latest: PolicyVersion = Infinity

export interface LevelVersion {
  level: Level
  version: PolicyVersion
}

export const modes = ['enforce', 'audit', 'warn'] as const

/** The modes: reject pods, annotate audit events, or warn the client. */
export type Mode = (typeof modes)[number]

export type Policy = Readonly<Record<Mode, Readonly<LevelVersion>>>

const privileged: LevelVersion = { level: 'privileged', version: latest }

/** The policy without labels and configuration: everything is allowed. */
export const openPolicy: Policy = { enforce: privileged, audit: privileged, warn: privileged }

/** The prefix of labels and audit annotations. */
export const labelPrefix = 'pod-security.kubernetes.io/'

/** Kubernetes' error for an invalid level. */
export const levelProblem = `must be one of ${levels.join(', ')}`
export const versionProblem = 'must be "latest" or "v1.x"'

export const parseLevel = (text: string): Level | undefined => levels.find((level) => level === text)

export function parsePolicyVersion(text: string): PolicyVersion | undefined {
  if (text === 'latest') return latest
  const minor = /^v1\.(\d|[1-9]\d{0,9})$/.exec(text)?.[1]
  return minor === undefined ? undefined : Number(minor)
}

/** `restricted:v1.29` */
export const levelVersionText = ({ level, version }: LevelVersion): string =>
  `${level}:${version === latest ? 'latest' : `v1.${version}`}`

/** Compares levels. Positive if the first is stricter. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b)

export const isSameLevelVersion = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version

/** True if two policies are equivalent. The version of a privileged level is irrelevant. */
export const isSamePolicy = (a: Policy, b: Policy): boolean =>
  modes.every(
    (mode) =>
      (a[mode].level === 'privileged' && b[mode].level === 'privileged') || isSameLevelVersion(a[mode], b[mode]),
  )

export const isPrivileged = (policy: Policy, ...asked: readonly Mode[]): boolean =>
  asked.every((mode) => policy[mode].level === 'privileged')

/** The fallback for an invalid label: restricted for enforce, privileged for audit and warn. */
const unreadable: Record<Mode, Level> = { enforce: 'restricted', audit: 'privileged', warn: 'privileged' }

/** Parses the policy of a namespace from its labels. It is complete even if labels are invalid. */
export function policyOf(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: Policy,
): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = []
  if (!labels) return { policy: defaults, errors }
  const wrong = (label: string, value: string, problem: string) =>
    errors.push(invalid(Path.of('metadata', 'labels').key(label), value, problem))
  const read = (mode: Mode): LevelVersion => {
    const { [labelPrefix + mode]: levelText, [`${labelPrefix}${mode}-version`]: versionText } = labels
    const level = levelText === undefined ? defaults[mode].level : parseLevel(levelText)
    if (level === undefined) wrong(labelPrefix + mode, levelText!, levelProblem)
    const version = versionText === undefined ? defaults[mode].version : parsePolicyVersion(versionText)
    if (version === undefined) wrong(`${labelPrefix}${mode}-version`, versionText!, versionProblem)
    return { level: level ?? unreadable[mode], version: version ?? latest }
  }
  const enforce = read('enforce')
  const audit = read('audit')
  return { policy: { enforce, audit, warn: warnLike(enforce, read('warn'), labels) }, errors }
}

/** If only enforce is set, warn defaults to the same level. */
function warnLike(enforce: LevelVersion, warn: LevelVersion, labels: Readonly<Record<string, string>>): LevelVersion {
  const {
    [`${labelPrefix}enforce`]: enforced,
    [`${labelPrefix}warn`]: warned,
    [`${labelPrefix}warn-version`]: version,
  } = labels
  if (enforced === undefined || warned !== undefined || compareLevels(enforce.level, warn.level) <= 0) return warn
  return { level: enforce.level, version: version === undefined ? enforce.version : warn.version }
}
