export { setOfClaim, statefulSetController } from './controller.ts'
export { claimNameAt, ordinalOf, startOrdinal } from './identity.ts'
