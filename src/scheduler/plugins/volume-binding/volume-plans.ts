/** What was decided about volumes and that the API does not say yet: no second pod is promised the same. */
export class VolumePlans {
  /** By volume: the key of the claim that gets it. */
  readonly #claims = new Map<string, string>()
  /** By claim: the node for which a volume is to be made. */
  readonly #nodes = new Map<string, string>()

  /** The key of the claim that gets the volume. */
  claimOf(volume: string): string | undefined {
    return this.#claims.get(volume)
  }

  /** The node for which a volume is being made for the claim. */
  nodeOf(claimKey: string): string | undefined {
    return this.#nodes.get(claimKey)
  }

  promise(volume: string, claimKey: string): void {
    this.#claims.set(volume, claimKey)
  }

  provision(claimKey: string, node: string): void {
    this.#nodes.set(claimKey, node)
  }

  /** It is in the API now, or will never be. */
  forget(volumes: readonly string[], claimKeys: readonly string[]): void {
    for (const volume of volumes) this.#claims.delete(volume)
    for (const key of claimKeys) this.#nodes.delete(key)
  }
}
