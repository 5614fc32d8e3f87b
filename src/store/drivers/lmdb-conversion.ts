import { decodeHead, decodeValue, encodeRecord, encodedSize } from '../record-codec.ts'
import { FileReserve } from './file-reserve.ts'
import { currentFormat, encodeMeta, encodeRevision, keyInFormat2 } from './lmdb-format.ts'
import type { Contents, Outdated } from './lmdb-format.ts'
import type { Databases, LmdbStats } from './lmdb-log.ts'

/** Thrown when a file of an older format could not be converted. The file is unchanged. */
export class NotConverted extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'NotConverted'
  }
}

type OldContents = Contents & { readonly outdated: Outdated }

/**
 * Converts a file of format 1 to format 2 in one transaction, so that a crash leaves one or the other. Only keys
 * change. Revisions, times, values, marks and history stay, so watches and paged lists continue. Throws NotConverted.
 */
export async function convertFile(path: string, databases: Databases, contents: OldContents): Promise<void> {
  const { root, log, meta } = databases
  const { places, outdated } = contents
  const key = Buffer.allocUnsafeSlow(8)
  places.open(path)
  try {
    const reserve = await FileReserve.of(path)
    const needed = mostBytes(databases, outdated)
    if (needed > reserve.bytes) await reserve.grow(needed)
    root.transactionSync(() => {
      for (const revision of outdated.revisions) {
        const bytes = places.read(revision) ?? log.getBinary(encodeRevision(revision, key))!
        void log.put(encodeRevision(revision, key), renamed(bytes))
      }
      void meta.put(Buffer.from('format'), encodeMeta(currentFormat))
      void meta.put(Buffer.from('reserved'), encodeMeta({ bytes: reserve.bytes }))
    })
  } catch (error) {
    throw new NotConverted(error as Error)
  } finally {
    places.close()
  }
}

function renamed(bytes: Buffer): Buffer {
  const head = decodeHead(bytes)
  const record = { ...head, key: keyInFormat2(head.key), value: decodeValue(bytes) }
  const target = Buffer.allocUnsafe(encodedSize(record))
  encodeRecord(record, target, 0)
  return target
}

/**
 * Returns the maximum length of the file after the conversion. LMDB cannot reuse the old pages of a record in the same
 * transaction.
 */
function mostBytes({ log }: Databases, { revisions, long }: Outdated): number {
  const { pageSize, lastPageNumber, treeDepth, treeLeafPageCount, treeBranchPageCount } = log.getStats() as LmdbStats
  // Each page of the tree is copied once, however many of its records change. It is split at most once, because records
  // become longer: with 100,000 short records, 2,858 leaves and 14 branches became 5,715 and 39.
  const treePages = 2.1 * Math.min(treeLeafPageCount + treeBranchPageCount, revisions.length * (treeDepth + 1))
  // A long record has its own pages; the last one is not full.
  const pages = treePages + long.bytes / pageSize + 1.1 * long.count
  return Math.ceil(lastPageNumber + 1 + pages * (1 + 1 / 256) + 32) * pageSize
}
