import { readFileSync } from 'node:fs'
import { RuntimeError } from '../../runtime/runtime.ts'
import { type CatalogueEntry, entryFor, fullImageName, imageId } from './catalogue.ts'
import { writeWhole } from '../../runtime/write-whole.ts'

/** The images that were asked for. There is nothing in them: a pull takes no time and no room. */
export class ImageList {
  readonly #unknownFails: boolean
  readonly #file: string
  readonly #catalogue: readonly CatalogueEntry[]
  readonly #pulled: Set<string>

  /** `unknownFails`: images that the catalogue does not know cannot be pulled. */
  constructor(file: string, catalogue: readonly CatalogueEntry[], unknownFails = false) {
    this.#unknownFails = unknownFails
    this.#file = file
    this.#catalogue = catalogue
    this.#pulled = new Set(readList(file))
  }

  /**
   * Answers the image's id. Every image is there, but for those that the catalogue says are missing, and those that it
   * does not know if they are to fail.
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
    // One that was pulled while unknown images did not fail is not there any more.
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
    // None was pulled yet.
    return []
  }
}
