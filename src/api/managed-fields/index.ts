export { builtInMergeType } from './built-in-type.ts'
export { pathTexts } from './field-set.ts'
export { decodeOwners, isReset, managerOfAgent, withManagedFields } from './managers.ts'
export type { Manager, Owner } from './managers.ts'
export type { MergeType } from './merge-type.ts'
export {
  applyConfiguration,
  conflictText,
  lastAppliedFields,
  ownersAfterCreation,
  ownersAfterUpdate,
} from './ownership.ts'
export type { Applied, Conflict, OtherVersions, OwnedWrite } from './ownership.ts'
export { isSameButForTimes, memberLength, noOwners, packAll, writeMember } from './packed-owner.ts'
export type { PackedOwners } from './packed-owner.ts'
export { atomicsIn, merge } from './typed-value.ts'
export { problemsOf, problemsText } from './type-problems.ts'
