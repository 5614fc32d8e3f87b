import type { ImagePull, ImageStatus, ListedImage } from '../../runtime/runtime.ts'
import { type CriClient, unlessGone } from './cri-client.ts'
import { methods } from './methods.ts'

/** The images of a runtime. */
export class CriImages {
  readonly #client: CriClient
  readonly #sandboxImage: string | undefined

  /** `sandboxImage` is the image of sandboxes, for runtimes that do not pin it themselves. */
  constructor(client: CriClient, sandboxImage: string | undefined) {
    this.#client = client
    this.#sandboxImage = sandboxImage
  }

  /** Tries one credential after the other, and none where there is none. */
  async pull({ image, credentials }: ImagePull, signal: AbortSignal): Promise<string> {
    const spec = { image, userSpecifiedImage: image }
    let last: unknown
    for (const credential of credentials.length > 0 ? credentials : [undefined]) {
      // The credentials are those of the image's registry, whichever mirror it is pulled from.
      const auth = credential && { username: credential.username, password: credential.password }
      try {
        return (
          await this.#client.call(
            methods.pullImage,
            { image: spec, ...(auth ? { auth } : {}) },
            { timeoutMs: 0, signal },
          )
        ).imageRef
      } catch (e) {
        signal.throwIfAborted()
        last = e
      }
    }
    throw last
  }

  async status(image: string): Promise<ImageStatus | undefined> {
    const { image: found } = await this.#client.call(methods.imageStatus, { image: { image } })
    if (!found) return undefined
    // An image that names nobody runs as root.
    return {
      id: found.id,
      sizeBytes: found.size,
      user: found.username === '' ? { uid: found.uid?.value ?? 0 } : { name: found.username },
    }
  }

  async list(): Promise<ListedImage[]> {
    const { images } = await this.#client.call(methods.listImages, {})
    return images.map(({ id, repoTags, repoDigests, size, pinned }) => {
      const isPinned = pinned || (this.#sandboxImage !== undefined && repoTags.includes(this.#sandboxImage))
      return { id, tags: [...repoDigests, ...repoTags], sizeBytes: size, ...(isPinned ? { isPinned } : {}) }
    })
  }

  async remove(image: string): Promise<void> {
    await this.#client.call(methods.removeImage, { image: { image } }).catch(unlessGone)
  }

  /** Also by containers that are not this node's. */
  async inUse(): Promise<ReadonlySet<string>> {
    const { containers } = await this.#client.call(methods.listContainerImages, {})
    return new Set(containers.flatMap(({ image, imageRef }) => [imageRef, ...(image ? [image.image] : [])]))
  }

  /** Where they are kept. */
  async directory(): Promise<string | undefined> {
    const { imageFilesystems } = await this.#client.call(methods.imageFsInfo, {})
    return imageFilesystems[0]?.fsId?.mountpoint
  }
}
