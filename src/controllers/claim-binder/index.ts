export { claimBinder } from './claims.ts'
export { volumeBinder } from './volumes.ts'
