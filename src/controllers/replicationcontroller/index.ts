export { replicationControllerController } from './controller.ts'
