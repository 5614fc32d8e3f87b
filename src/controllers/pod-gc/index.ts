export { definePodGc, podGcController } from './controller.ts'
export type { PodGcOptions } from './controller.ts'
