export {
  type PodSecurityConfiguration,
  type PodSecuritySettings,
  isPodSecurityConfiguration,
  modesSaid,
  readPodSecuritySettings,
  usualSettings,
} from './configuration.ts'
export { detailsText, objectionsTo, reasonsText } from './evaluate.ts'
export { isSignificantUpdate, templateReader } from './pods-of-kinds.ts'
export {
  type LevelVersion,
  type Mode,
  type Policy,
  compareLevels,
  isPrivileged,
  isSameLevelVersion,
  isSamePolicy,
  labelPrefix,
  latest,
  levelVersionText,
  policyOf,
} from './policy.ts'
