export { ttlAfterFinishedController } from './controller.ts'
