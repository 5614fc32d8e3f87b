import { jsonRows } from './json-rows.ts'
import { kindRows } from './kind-rows.ts'
import { patchRows } from './patch-rows.ts'
import { requestRows } from './request-rows.ts'
import type { Row } from './row.ts'
import { serverRows } from './server-rows.ts'
import { yamlRows } from './yaml-rows.ts'

/** The whole table. */
export const attackRows: Row[] = [...yamlRows, ...jsonRows, ...kindRows, ...patchRows, ...requestRows, ...serverRows]
