export { OpenApi } from './openapi.ts'
