import { type FieldError, duplicate, invalid, required } from '../validation/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../validation/names.ts'
import { Path } from '../validation/path.ts'
import {
  type LevelVersion,
  type Mode,
  type Policy,
  latest,
  levelProblem,
  modes,
  openPolicy,
  parseLevel,
  parsePolicyVersion,
  versionProblem,
} from './policy.ts'

/** Exemptions by user, namespace and runtime class. */
interface Exemptions {
  usernames: readonly string[]
  runtimeClasses: readonly string[]
  namespaces: readonly string[]
}

export interface PodSecuritySettings {
  /** Defaults for namespaces without labels. */
  defaults: Policy
  exemptions: Exemptions
}

export const usualSettings: PodSecuritySettings = {
  defaults: openPolicy,
  exemptions: { usernames: [], runtimeClasses: [], namespaces: [] },
}

/** A PodSecurityConfiguration file. */
export interface PodSecurityConfiguration {
  defaults?: Readonly<Record<string, string>>
  exemptions?: Partial<Exemptions>
}

const apiVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `pod-security.admission.config.k8s.io/${version}`)

export const isPodSecurityConfiguration = (apiVersion: unknown, kind: unknown): boolean =>
  kind === 'PodSecurityConfiguration' && apiVersions.includes(apiVersion as string)

/** Parses the configuration and returns all its errors. */
export function readPodSecuritySettings({ defaults = {}, exemptions = {} }: PodSecurityConfiguration): {
  settings: PodSecuritySettings
  errors: FieldError[]
} {
  const errors: FieldError[] = []
  const read = (mode: Mode): LevelVersion => {
    const path = Path.of('defaults', mode)
    const text = defaults[mode] || 'privileged'
    const level = parseLevel(text)
    if (level === undefined) errors.push(invalid(path, text, levelProblem))
    const versionText = defaults[`${mode}-version`] || 'latest'
    const version = parsePolicyVersion(versionText)
    if (version === undefined) errors.push(invalid(Path.of('defaults', `${mode}-version`), versionText, versionProblem))
    return { level: level ?? 'restricted', version: version ?? latest }
  }
  const enforce = read('enforce')
  const warn = read('warn')
  const audit = read('audit')
  const { usernames = [], runtimeClasses = [], namespaces = [] } = exemptions
  errors.push(
    ...wrongNames('namespaces', namespaces, isDns1123Label),
    ...wrongNames('runtimeClasses', runtimeClasses, isDns1123Subdomain),
    ...wrongNames('usernames', usernames, () => []),
  )
  return {
    settings: { defaults: { enforce, audit, warn }, exemptions: { usernames, runtimeClasses, namespaces } },
    errors,
  }
}

function wrongNames(field: keyof Exemptions, names: readonly string[], rule: (name: string) => string[]): FieldError[] {
  const seen = new Set<string>()
  return names.flatMap((name, i) => {
    const path = Path.of('exemptions', field).index(i)
    if (field === 'usernames' && name === '') return [required(path)]
    const problems = rule(name)
    if (problems.length) return [invalid(path, name, problems.join(', '))]
    if (seen.has(name)) return [duplicate(path, name)]
    seen.add(name)
    return []
  })
}

/** The modes that labels set. */
export const modesSaid = (labels: Readonly<Record<string, string>>, prefix: string): Mode[] =>
  modes.filter((mode) => labels[prefix + mode] !== undefined || labels[`${prefix}${mode}-version`] !== undefined)
