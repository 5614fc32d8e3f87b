import { decodeHead, decodeValue, encodeRecord, encodedSize } from '../record-codec.ts'
import { FileReserve } from './file-reserve.ts'
import { currentFormat, encodeMeta, encodeRevision, keyInFormat2 } from './lmdb-format.ts'
import type { Contents, Outdated } from './lmdb-format.ts'
import type { Databases, LmdbStats } from './lmdb-log.ts'

/** The file is of an older format and could not be converted. It was not changed. */
export class NotConverted extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'NotConverted'
  }
}

type OldContents = Contents & { readonly outdated: Outdated }

/**
 * Makes a file of format 1 one of format 2 in one transaction, so that a crash leaves one or the other. Only keys
 * change. Revisions, times, values, marks and history stay, so that watches and pages of lists go on where they were.
 * Throws NotConverted.
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

/** How long the file is at most afterwards: LMDB cannot use the old pages of a record again in the same transaction. */
function mostBytes({ log }: Databases, { revisions, long }: Outdated): number {
  const { pageSize, lastPageNumber, treeDepth, treeLeafPageCount, treeBranchPageCount } = log.getStats() as LmdbStats
  // A page of the tree is copied once, however many records on it change. It is split at most once, because records
  // become longer: with 100,000 short ones 2,858 leaves and 14 branches became 5,715 and 39.
  const treePages = 2.1 * Math.min(treeLeafPageCount + treeBranchPageCount, revisions.length * (treeDepth + 1))
  // A long record has pages of its own, of which the last is not full.
  const pages = treePages + long.bytes / pageSize + 1.1 * long.count
  return Math.ceil(lastPageNumber + 1 + pages * (1 + 1 / 256) + 32) * pageSize
}
