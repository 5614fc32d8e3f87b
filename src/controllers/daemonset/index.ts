export { daemonSetController } from './controller.ts'
