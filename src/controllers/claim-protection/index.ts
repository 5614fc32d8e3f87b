export { attributesClassProtector } from './controller.ts'
export { claimProtector } from './controller.ts'
export { volumeProtector } from './controller.ts'
