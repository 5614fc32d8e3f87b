import { run } from './run.ts'
const [from, to] = process.argv.slice(2).map(Number) as [number, number]
let bad = 0
for (let seed = from; seed <= to && bad < 3; seed++) { const r = await run({ seed, steps: 2000, scenario: 'jobs' }); if (r.violation) {  bad++; console.log(seed, r.violation, r.steps); console.log(r.history(70).join('\n')) } }
console.log('done', bad)
