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

  async pull({ image, credential }: ImagePull, signal: AbortSignal): Promise<string> {
    // The credential is for the image's registry, even if a mirror is used.
    const auth = credential && { username: credential.username, password: credential.password }
    const request = { image: { image, userSpecifiedImage: image }, ...(auth ? { auth } : {}) }
    return (await this.#client.call(methods.pullImage, request, { timeoutMs: 0, signal })).imageRef
  }

  async status(image: string): Promise<ImageStatus | undefined> {
    const { image: found } = await this.#client.call(methods.imageStatus, { image: { image } })
    if (!found) return undefined
    // The default user of an image is root.
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

  /** Includes images of other nodes' containers. */
  async inUse(): Promise<ReadonlySet<string>> {
    const { containers } = await this.#client.call(methods.listContainerImages, {})
    return new Set(containers.flatMap(({ image, imageRef }) => [imageRef, ...(image ? [image.image] : [])]))
  }

  /** The directory of the images. */
  async directory(): Promise<string | undefined> {
    const { imageFilesystems } = await this.#client.call(methods.imageFsInfo, {})
    return imageFilesystems[0]?.fsId?.mountpoint
  }
}
