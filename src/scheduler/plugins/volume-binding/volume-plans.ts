/** Decisions about volumes that the API does not show yet, so that no volume is assigned twice. */
export class VolumePlans {
  /** By volume: the key of its claim. */
  readonly #claims = new Map<string, string>()
  /** By claim: the node for which a volume is provisioned. */
  readonly #nodes = new Map<string, string>()

  /** The key of the claim that gets the volume. */
  claimOf(volume: string): string | undefined {
    return this.#claims.get(volume)
  }

  /** The node for which a volume of the claim is provisioned. */
  nodeOf(claimKey: string): string | undefined {
    return this.#nodes.get(claimKey)
  }

  promise(volume: string, claimKey: string): void {
    this.#claims.set(volume, claimKey)
  }

  provision(claimKey: string, node: string): void {
    this.#nodes.set(claimKey, node)
  }

  /** The API shows the decision, or it was withdrawn. */
  forget(volumes: readonly string[], claimKeys: readonly string[]): void {
    for (const volume of volumes) this.#claims.delete(volume)
    for (const key of claimKeys) this.#nodes.delete(key)
  }
}
