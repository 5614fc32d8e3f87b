export { claimRecoveryController } from './controller.ts'
export { forsakenPodController } from './forsaken-pods.ts'
