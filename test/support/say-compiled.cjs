/** Loaded before a program: tells on standard error of each script with compiled code whether V8 took it. */
const vm = require('node:vm');

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (options?.cachedData !== undefined) process.stderr.write(`compiled code ${this.cachedDataRejected ? 'refused' : 'taken'}\n`);
  }
};
