import type { ContainerImage, Node } from '../../api/generated/types.ts'

interface Image {
  bytes: number
  nodes: Set<string>
}

/** Which nodes have which images. */
export class Images {
  readonly #byName = new Map<string, Image>()

  get(name: string): { readonly bytes: number; readonly nodes: ReadonlySet<string> } | undefined {
    return this.#byName.get(name)
  }

  /** A node's images were these and are those. */
  change(node: string, before: Node | undefined, after: Node | undefined): void {
    const old = before?.status?.images
    const current = after?.status?.images
    if (old === current) return
    for (const image of old ?? []) this.#remove(node, image)
    for (const { names, sizeBytes = 0 } of current ?? []) {
      for (const name of names ?? []) {
        const known = this.#byName.get(name)
        if (known) known.nodes.add(node)
        else this.#byName.set(name, { bytes: Number(sizeBytes), nodes: new Set([node]) })
      }
    }
  }

  #remove(node: string, { names }: ContainerImage): void {
    for (const name of names ?? []) {
      const image = this.#byName.get(name)
      if (image?.nodes.delete(node) && image.nodes.size === 0) this.#byName.delete(name)
    }
  }
}
