export { claimProtector } from './claims.ts'
export { volumeProtector } from './volumes.ts'
