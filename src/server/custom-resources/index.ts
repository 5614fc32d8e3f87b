export { CustomResources } from './custom-resources.ts'
