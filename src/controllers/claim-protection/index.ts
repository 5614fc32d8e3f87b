export { attributesClassProtector } from './attributes-classes.ts'
export { claimProtector } from './claims.ts'
export { volumeProtector } from './volumes.ts'
