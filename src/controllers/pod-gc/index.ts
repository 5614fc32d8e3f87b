export { definePodGc, podGcController } from './controller.ts'
