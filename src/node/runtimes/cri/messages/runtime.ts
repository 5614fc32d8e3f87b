import { bool, bytes, int, map, message, nested, repeated, string } from '../../../../grpc/index.ts'
import { filesystemUsage, imageSpec } from './container.ts'
import { int64Value, sandboxConfig } from './sandbox.ts'

/** CRI messages about images, the runtime itself and its events. */
export const cgroupDrivers = ['systemd', 'cgroupfs'] as const

const image = message({
  id: string(1),
  repoTags: repeated(string(2)),
  repoDigests: repeated(string(3)),
  size: int(4),
  uid: nested(5, () => int64Value),
  username: string(6),
  pinned: bool(8),
})
const authConfig = message({
  username: string(1),
  password: string(2),
  auth: string(3),
  serverAddress: string(4),
  identityToken: string(5),
  registryToken: string(6),
})
const imageFilter = message({ image: nested(1, () => imageSpec) })

export const listImagesRequest = message({ filter: nested(1, () => imageFilter) })
export const listImagesResponse = message({ images: repeated(nested(1, () => image)) })
export const imageStatusRequest = message({ image: nested(1, () => imageSpec), verbose: bool(2) })
export const imageStatusResponse = message({ image: nested(1, () => image), info: map(2, string(2)) })
export const pullImageRequest = message({
  image: nested(1, () => imageSpec),
  auth: nested(2, () => authConfig),
  sandboxConfig: nested(3, () => sandboxConfig),
})
export const pullImageResponse = message({ imageRef: string(1) })
export const removeImageRequest = message({ image: nested(1, () => imageSpec) })
export const imageFsInfoResponse = message({ imageFilesystems: repeated(nested(1, () => filesystemUsage)) })

const runtimeCondition = message({ type: string(1), status: bool(2), reason: string(3), message: string(4) })
const runtimeStatus = message({ conditions: repeated(nested(1, () => runtimeCondition)) })
const linuxRuntimeConfig = message({ cgroupDriver: int(1) })

export const versionRequest = message({ version: string(1) })
export const versionResponse = message({
  version: string(1),
  runtimeName: string(2),
  runtimeVersion: string(3),
  runtimeApiVersion: string(4),
})
export const statusRequest = message({ verbose: bool(1) })
export const statusResponse = message({ status: nested(1, () => runtimeStatus), info: map(2, string(2)) })
export const runtimeConfigResponse = message({ linux: nested(1, () => linuxRuntimeConfig) })

/** An event names the container or sandbox that has changed. Its state is then read. */
const eventSandbox = message({ id: string(1) })
export const containerEvent = message({
  containerId: string(1),
  eventType: int(2),
  podSandboxStatus: nested(4, () => eventSandbox),
})

/** An event of containerd's own interface, which versions before 1.7 have instead. */
const anyMessage = message({ typeUrl: string(1), value: bytes(2) })
export const containerdSubscribeRequest = message({ filters: repeated(string(1)) })
export const containerdEnvelope = message({
  namespace: string(2),
  topic: string(3),
  event: nested(4, () => anyMessage),
})
