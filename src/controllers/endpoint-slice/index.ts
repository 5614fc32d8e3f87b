export { endpointSlice } from './controller.ts'
