export { claimExpander } from './controller.ts'
