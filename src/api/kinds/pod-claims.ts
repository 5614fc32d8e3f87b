import type { Pod } from '../generated/types.ts'

/** The names of the claims whose volumes a pod mounts: those it names, and those that are made for it. */
export const claimNamesOf = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : []))

/** The same as keys. */
export const claimKeysOf = (pod: Pod): string[] => claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`)
