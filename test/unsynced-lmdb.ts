// Stands in for lmdb where a test has to prove that it notices writes that were never synced.
import { open as openLmdb } from 'lmdb'

export const open: typeof openLmdb = ((options: Parameters<typeof openLmdb>[0]) => openLmdb({ ...(options as object), noSync: true } as never)) as never
