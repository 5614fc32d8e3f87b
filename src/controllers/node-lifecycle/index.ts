export { nodeLifecycle } from './controller.ts'
