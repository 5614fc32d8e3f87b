import { type Config, emptyConfig } from './config.ts'

/** Merges configs as kubectl does: the first definition wins. Entries are taken whole, never by field. */
export function mergeConfigs(configs: readonly Config[]): Config {
  const merged = emptyConfig()
  for (const { currentContext, clusters, users, contexts } of configs) {
    merged.currentContext ||= currentContext
    addMissing(merged.clusters, clusters)
    addMissing(merged.users, users)
    addMissing(merged.contexts, contexts)
  }
  return merged
}

function addMissing<E>(to: Map<string, E>, from: ReadonlyMap<string, E>): void {
  for (const [name, entry] of from) if (!to.has(name)) to.set(name, entry)
}
