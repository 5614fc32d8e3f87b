import type { KubeObject } from '../../api/object.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { Registered } from '../registry/registry.ts'
import type { Result } from '../requests/request.ts'

/** Converts stored objects to the version of the request. Asynchronous only with a conversion webhook. */
export const shown = ({ resource: { conversion } }: Registered, items: readonly StoredObject[]) =>
  conversion ? conversion.show(items) : items

/** One object in the version of the request, decoded. */
export function presented(target: Registered, stored: StoredObject): KubeObject | Promise<KubeObject> {
  const { storedAs } = target.resource
  if (storedAs) return storedAs.fromStored(stored.object)
  const found = shown(target, [stored])
  return found instanceof Promise ? found.then(([one]) => one!.object) : found[0]!.object
}

/** Converts the objects of a result to the version of the request. */
export async function shownResult(target: Registered, answered: Result | Promise<Result>): Promise<Result> {
  const result = await answered
  if (result.kind === 'list') return { ...result, items: await shown(target, result.items) }
  if (result.kind !== 'stored') return result
  const [stored] = await shown(target, [result.stored])
  return { ...result, stored: stored! }
}
