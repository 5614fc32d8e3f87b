export { quotaControllerOf, resourceQuotaController } from './controller.ts'
export { countedKinds } from './observe.ts'
