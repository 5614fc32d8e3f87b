import type { Pod } from '../../../api/generated/types.ts'
import { invalidImageName } from '../../../api/kinds/containers/image-reference.ts'
import { printDuration } from '../../../base/duration.ts'
import type { PullCredential } from '../../images/image-access.ts'
import { type PodContainer, StartError } from '../containers.ts'
import type { NodeContext } from '../node-context.ts'

/** Adds the default tag: `nginx` becomes `nginx:latest`. */
const withTag = (image: string): string => (/(@|:[^/]*$)/.test(image) ? image : `${image}:latest`)

/** Pulls a container's image by its pull policy and records events. Throws a StartError. */
export async function ensureImage(
  context: NodeContext,
  pod: Pod,
  container: PodContainer,
  credentials: readonly PullCredential[],
  signal: AbortSignal,
): Promise<void> {
  const { runtime, clock, pulls, stages, imageAccess } = context
  const image = container.spec.image ?? ''
  const policy = container.spec.imagePullPolicy ?? 'IfNotPresent'
  const tell = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    context.event(pod, type, reason, message, container)
  const invalid = invalidImageName(image)
  if (invalid !== undefined) {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${invalid}`
    tell('Warning', 'InspectFailed', message)
    throw new StartError('InvalidImageName', message)
  }
  const present = await runtime.imageStatus(withTag(image))
  const isAllowed = present !== undefined && imageAccess.allows(withTag(image), present.id, credentials)
  if (policy === 'Never' && !isAllowed) {
    const message = `Container image "${image}" is not present with pull policy of Never`
    tell('Warning', 'ErrImageNeverPull', message)
    throw new StartError('ErrImageNeverPull', message)
  }
  if (isAllowed && policy !== 'Always')
    return tell(
      'Normal',
      'Pulled',
      `Container image "${image}" already present on machine and can be accessed by the pod`,
    )
  const key = `${pod.metadata.uid}_${image}`
  const startMs = clock.now()
  const leftMs = pulls.leftMs(key)
  if (leftMs > 0) {
    tell('Normal', 'BackOff', `Back-off pulling image "${image}"`)
    throw new StartError(
      'ImagePullBackOff',
      `Back-off pulling image "${image}": ErrImagePull: ${pulls.why(key)}`,
      leftMs,
    )
  }
  tell('Normal', 'Pulling', `Pulling image "${image}"`)
  try {
    await stages.run(
      'image',
      pod,
      signal,
      () => pull(context, withTag(image), credentials, signal),
      container.spec.name,
    )
  } catch (e) {
    if (signal.aborted) throw e
    const message = e instanceof Error ? e.message : String(e)
    tell('Warning', 'Failed', `Failed to pull image "${image}": ${message}`)
    pulls.next(key, clock.now(), message)
    throw new StartError('ErrImagePull', message, 0)
  }
  pulls.reset(key)
  const note = runtime.imageNote?.(withTag(image))
  if (note !== undefined) tell('Normal', 'UnknownImage', note)
  const took = printDuration(clock.now() - startMs)
  const { sizeBytes = 0 } = (await runtime.imageStatus(withTag(image))) ?? {}
  tell(
    'Normal',
    'Pulled',
    `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`,
  )
}

/** Tries the credentials one after the other, or pulls without any, and records the one that was accepted. */
async function pull(
  { runtime, imageAccess }: NodeContext,
  image: string,
  credentials: readonly PullCredential[],
  signal: AbortSignal,
): Promise<void> {
  if (credentials.length > 0) imageAccess.begin(image)
  let last: unknown
  for (const credential of credentials.length > 0 ? credentials : [undefined]) {
    try {
      await runtime.pullImage(credential ? { image, credential: credential.login } : { image }, signal)
    } catch (e) {
      signal.throwIfAborted()
      last = e
      continue
    }
    const status = await runtime.imageStatus(image)
    if (status) imageAccess.pulled(image, status.id, credential)
    return
  }
  throw last
}
