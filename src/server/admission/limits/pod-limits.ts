import type { Pod, Service } from '../../../api/generated/types.ts'
import { type AnyContainer, visitContainers } from '../../../api/kinds/containers/visit-containers.ts'
import { type FieldError, notSupported } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { isFor, refusal } from '../refusal.ts'

const spec = Path.of('spec')

/** Visits the images of a pod: of containers and of image volumes. */
function visitImages(pod: Pod, visit: (image: string, path: Path, place: AnyContainer) => void): void {
  visitContainers(pod.spec, spec, (container, path) =>
    visit(container.image ?? '', path.child('imagePullPolicy'), container),
  )
}

const imagesOf = (pod: Pod): string[] => {
  const images = (pod.spec.volumes ?? []).flatMap(({ image }) => image?.reference ?? [])
  visitImages(pod, (image) => images.push(image))
  return images
}

/**
 * The pod whose images a request may pull: a pod or its ephemeral containers. An update without a new image pulls
 * nothing.
 */
function pulledPod(request: AdmissionRequest): Pod | undefined {
  const { resource, subresource, operation } = request
  const isPod =
    resource.group === '' && resource.plural === 'pods' && (subresource === '' || subresource === 'ephemeralcontainers')
  if (!isPod || !request.object || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
  const pod = request.object as Pod
  if (operation === 'CREATE') return pod
  const old = new Set(imagesOf(request.old as Pod))
  return imagesOf(pod).every((image) => old.has(image)) ? undefined : pod
}

/** Sets imagePullPolicy Always, so that each pod needs its own permission to pull an image. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  admit(request) {
    const pod = pulledPod(request)
    if (!pod) return
    visitImages(pod, (_image, _path, container) => void (container.imagePullPolicy = 'Always'))
    for (const { image } of pod.spec.volumes ?? []) if (image) image.pullPolicy = 'Always'
  },
  validate(request) {
    const pod = pulledPod(request)
    if (!pod) return
    const errors: FieldError[] = []
    const check = (policy: string | undefined, path: Path) => {
      if (policy !== 'Always') errors.push(notSupported(path, policy ?? '', ['Always']))
    }
    visitImages(pod, (_image, path, { imagePullPolicy }) => check(imagePullPolicy, path))
    for (const [i, { image }] of (pod.spec.volumes ?? []).entries()) {
      if (image) check(image.pullPolicy, spec.child('volumes').index(i).child('image', 'pullPolicy'))
    }
    const lines = errors.map(({ field, message }) => `${field}: ${message}`)
    if (lines.length) throw refusal(request, lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`)
  },
}

const hostname = 'kubernetes.io/hostname'

/** Rejects required pod anti-affinity with a topology key other than the host name. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  validate(request) {
    if (!isFor(request, '', 'pods') || !request.object) return
    const terms =
      (request.object as Pod).spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const wide = terms.find(({ topologyKey }) => topologyKey !== hostname)
    if (!wide) return
    const what = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey}`
    throw refusal(request, `${what} but only key ${hostname} is allowed`)
  },
}

/** Rejects new externalIPs of a Service. Existing ones are kept. */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  validate(request) {
    if (!isFor(request, '', 'services') || !request.object) return
    const kept = (request.old as Service | undefined)?.spec?.externalIPs ?? []
    const taken = (request.object as Service).spec?.externalIPs ?? []
    if (taken.every((address) => kept.includes(address))) return
    throw refusal(request, 'Use of external IPs is denied by admission control')
  },
}
