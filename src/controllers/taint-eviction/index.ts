export { taintEviction } from './controller.ts'
