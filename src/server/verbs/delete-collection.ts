import { isNotFound } from '../../api/errors.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { deleteObject, readDeleteOptions } from './delete.ts'
import { list } from './list.ts'

/** The number of concurrent deletions, which share commits. */
const width = 64

/** DELETE of a collection: deletes every object that a list with the same options returns, and returns that list. */
export async function deleteCollection(request: ResourceRequest): Promise<Result> {
  const options = await readDeleteOptions(request)
  const listed = await list(request)
  if (listed.kind !== 'list') return listed
  let next = 0
  const work = async () => {
    while (next < listed.items.length) {
      const { namespace = '', name = '' } = listed.items[next++]!.object.metadata
      try {
        await deleteObject({ ...request, namespace, name }, options)
      } catch (e) {
        // Another request has deleted the object already.
        if (!isNotFound(e)) throw e
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, listed.items.length) }, work))
  return listed
}
