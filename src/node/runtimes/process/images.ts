import { readFileSync } from 'node:fs'
import { RuntimeError } from '../../runtime/runtime.ts'
import { type CatalogueEntry, entryFor, fullImageName, imageId } from './catalogue.ts'
import { writeWhole } from '../../runtime/write-whole.ts'

/** The pulled images. They are only names, so a pull takes no time and no space. */
export class ImageList {
  readonly #unknownFails: boolean
  readonly #file: string
  readonly #catalogue: readonly CatalogueEntry[]
  readonly #pulled: Set<string>

  /** `unknownFails`: pulls of images that are not in the catalogue fail. */
  constructor(file: string, catalogue: readonly CatalogueEntry[], unknownFails = false) {
    this.#unknownFails = unknownFails
    this.#file = file
    this.#catalogue = catalogue
    this.#pulled = new Set(readList(file))
  }

  /**
   * Returns the id of an image. Throws for images that the catalogue marks as missing, and for unknown images if
   * `unknownFails`.
   */
  pull(image: string): string {
    const entry = entryFor(image, this.#catalogue)
    if (entry?.missing || (!entry && this.#unknownFails)) {
      const name = fullImageName(image)
      throw new RuntimeError(
        'NotFound',
        `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
      )
    }
    if (!this.#pulled.has(image)) this.#save(this.#pulled.add(image))
    return imageId(image)
  }

  isKnown(image: string): boolean {
    return entryFor(image, this.#catalogue) !== undefined
  }

  status(image: string): { id: string; sizeBytes: number } | undefined {
    // An image that was pulled while unknown images were allowed.
    if (this.#unknownFails && !this.isKnown(image)) return undefined
    return this.#pulled.has(image) ? { id: imageId(image), sizeBytes: 0 } : undefined
  }

  list(): { id: string; tags: readonly string[]; sizeBytes: number }[] {
    return [...this.#pulled].map((image) => ({ id: imageId(image), tags: [fullImageName(image)], sizeBytes: 0 }))
  }

  remove(image: string): void {
    if (this.#pulled.delete(image)) this.#save(this.#pulled)
  }

  #save(images: ReadonlySet<string>): void {
    writeWhole(this.#file, JSON.stringify([...images]))
  }
}

function readList(file: string): string[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as string[]
  } catch {
    // No image was pulled yet.
    return []
  }
}
