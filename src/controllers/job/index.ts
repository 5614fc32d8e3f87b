export { jobController } from './controller.ts'
export { orphanPodController } from './orphan-pods.ts'
