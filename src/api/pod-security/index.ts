export type { Objection } from './check.ts'
export {
  type Exemptions, type PodSecurityConfiguration, type PodSecuritySettings, isPodSecurityConfiguration, modesSaid,
  readPodSecuritySettings,
  usualSettings,
} from './configuration.ts'
export { allChecks, detailsText, newestVersion, objectionsTo, reasonsText } from './evaluate.ts'
export { isSignificantUpdate, templateReader } from './pods-of-kinds.ts'
export {
  type Level, type LevelVersion, type Mode, type Policy, type PolicyVersion, compareLevels, isPrivileged,
  isSameLevelVersion, isSamePolicy,
  labelPrefix, latest, levelVersionText, levels, modes, openPolicy, parseLevel, parsePolicyVersion, policyOf,
} from './policy.ts'
