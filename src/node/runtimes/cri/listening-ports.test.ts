import { expect, it } from 'vitest'
import { hasListener } from './listening-ports.ts'

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:0050 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1
`

it.each([[8080, true], [80, false], [9, false]])('hasListener(%i) is %s', (port, expected) => {
  expect(hasListener(table, port)).toBe(expected)
})
