import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { replaceFile } from '../../base/durable-files.ts'
import type { RegistryCredential } from '../runtime/runtime.ts'

/** A credential for a pull. Images that the node's own credentials have brought are open to every pod. */
export interface PullCredential {
  login: RegistryCredential
  isOfNode: boolean
}

/** The hashes of the credentials with which an image was pulled, or `all` if every pod may use it. */
type Access = 'all' | string[]

interface Book {
  /** By image id and by repository. */
  images: Record<string, Record<string, Access>>
  /** Images whose pull with credentials has begun. Their ids are not known yet. */
  pulling: string[]
}

/**
 * The credentials with which the images of a node were pulled. A pod may use an image that is present only with one of
 * them, so that private images are not open to every pod of the node. An image that the node did not pull, or that was
 * pulled without credentials, is open to all, as with a kubelet (KubeletEnsureSecretPulledImages,
 * NeverVerifyPreloadedImages).
 */
export class ImageAccess {
  readonly #file: string | undefined
  readonly #book: Book

  /** Without a file, every pod may use every image: the images of the runtime have no contents. */
  constructor(file: string | undefined) {
    this.#file = file
    const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined
    this.#book = text === undefined ? { images: {}, pulling: [] } : (JSON.parse(text) as Book)
  }

  /** True if a pod with these credentials may use an image that is present. */
  allows(image: string, id: string, credentials: readonly PullCredential[]): boolean {
    const { images, pulling } = this.#book
    const record = images[id]
    // After a pull that was interrupted nobody knows whose credentials have brought the image.
    if (!record) return !pulling.includes(image)
    const access = record[repositoryOf(image)]
    return access === 'all' || credentials.some((one) => access?.includes(hashOf(one)) === true)
  }

  /** Called before a pull with credentials, which may end after the agent. */
  begin(image: string): void {
    if (this.#file === undefined || this.#book.pulling.includes(image)) return
    this.#book.pulling.push(image)
    this.#save()
  }

  /** Called after a pull with the credential that was accepted; undefined for none. */
  pulled(image: string, id: string, credential: PullCredential | undefined): void {
    const { images, pulling } = this.#book
    // An image without a record is open to all.
    if (this.#file === undefined || (!credential && !images[id] && !pulling.includes(image))) return
    const record = (images[id] ??= {})
    const repository = repositoryOf(image)
    const before = record[repository] ?? []
    if (!credential || credential.isOfNode || before === 'all') record[repository] = 'all'
    else record[repository] = [...new Set([...before, hashOf(credential)])]
    this.#book.pulling = pulling.filter((one) => one !== image)
    this.#save()
  }

  #save(): void {
    if (this.#file !== undefined) replaceFile(this.#file, JSON.stringify(this.#book))
  }
}

/** The name of an image without tag and digest. */
const repositoryOf = (image: string): string => image.replace(/@.*$/, '').replace(/:[^/:]*$/, '')

const hashOf = ({ login: { server, username, password } }: PullCredential): string =>
  createHash('sha256')
    .update(JSON.stringify([server, username, password]))
    .digest('hex')
