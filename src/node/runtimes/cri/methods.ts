import type { MessageFields, MessageType, Method } from '../../../grpc/index.ts'
import * as c from './messages/container.ts'
import * as r from './messages/runtime.ts'
import * as s from './messages/sandbox.ts'

const method =
  (service: string) =>
  <Q extends MessageFields, A extends MessageFields>(
    name: string,
    request: MessageType<Q>,
    response: MessageType<A>,
  ): Method<Q, A> => ({
    path: `/${service}/${name}`,
    request,
    response,
  })

const runtime = method('runtime.v1.RuntimeService')
const image = method('runtime.v1.ImageService')

/** The CRI calls of the node. */
export const methods = {
  version: runtime('Version', r.versionRequest, r.versionResponse),
  status: runtime('Status', r.statusRequest, r.statusResponse),
  runtimeConfig: runtime('RuntimeConfig', s.empty, r.runtimeConfigResponse),
  events: runtime('GetContainerEvents', s.empty, r.containerEvent),

  runPodSandbox: runtime('RunPodSandbox', s.runPodSandboxRequest, s.sandboxIdMessage),
  stopPodSandbox: runtime('StopPodSandbox', s.sandboxIdMessage, s.empty),
  removePodSandbox: runtime('RemovePodSandbox', s.sandboxIdMessage, s.empty),
  podSandboxStatus: runtime('PodSandboxStatus', s.sandboxStatusRequest, s.sandboxStatusResponse),
  listPodSandboxes: runtime('ListPodSandbox', s.listSandboxesRequest, s.listSandboxesResponse),
  portForward: runtime('PortForward', c.portForwardRequest, c.urlResponse),

  createContainer: runtime('CreateContainer', c.createContainerRequest, c.containerIdMessage),
  startContainer: runtime('StartContainer', c.containerIdMessage, s.empty),
  stopContainer: runtime('StopContainer', c.stopContainerRequest, s.empty),
  removeContainer: runtime('RemoveContainer', c.containerIdMessage, s.empty),
  containerStatus: runtime('ContainerStatus', c.containerStatusRequest, c.containerStatusResponse),
  listContainers: runtime('ListContainers', c.listContainersRequest, c.listContainersResponse),
  /** The same call. Only the images of the response are decoded. */
  listContainerImages: runtime('ListContainers', c.listContainersRequest, c.listContainerImagesResponse),
  containerStats: runtime('ContainerStats', c.containerIdMessage, c.containerStatsResponse),
  updateContainerResources: runtime('UpdateContainerResources', c.updateResourcesRequest, s.empty),
  reopenContainerLog: runtime('ReopenContainerLog', c.containerIdMessage, s.empty),
  execSync: runtime('ExecSync', c.execSyncRequest, c.execSyncResponse),
  exec: runtime('Exec', c.execRequest, c.urlResponse),
  attach: runtime('Attach', c.attachRequest, c.urlResponse),

  listImages: image('ListImages', r.listImagesRequest, r.listImagesResponse),
  imageStatus: image('ImageStatus', r.imageStatusRequest, r.imageStatusResponse),
  pullImage: image('PullImage', r.pullImageRequest, r.pullImageResponse),
  removeImage: image('RemoveImage', r.removeImageRequest, s.empty),
  imageFsInfo: image('ImageFsInfo', s.empty, r.imageFsInfoResponse),

  /** containerd's own event stream. Versions before 1.7 lack GetContainerEvents. */
  containerdEvents: method('containerd.services.events.v1.Events')(
    'Subscribe',
    r.containerdSubscribeRequest,
    r.containerdEnvelope,
  ),
}
