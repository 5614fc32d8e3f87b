export { claimRecoveryController } from './controller.ts'
export { forsakenPodController } from './controller.ts'
