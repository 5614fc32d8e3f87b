export { claimBinder } from './controller.ts'
export { volumeBinder } from './volumes.ts'
