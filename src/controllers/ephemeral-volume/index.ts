export { ephemeralVolumeController } from './controller.ts'
