const hooks = require("eslint-plugin-react-hooks");
const { defineConfig } = require("eslint/config");
const { configs } = require("typescript-eslint");

module.exports = defineConfig({
  files: ["src/**/*.{ts,tsx}"],
  extends: [configs.strictTypeChecked, hooks.configs.flat.recommended],
  languageOptions: { parserOptions: { projectService: true } },
  rules: {
    // Numbers in messages and promises of event handlers are meant.
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    // The methods that Medusa's provider declares as async, with and without work.
    "@typescript-eslint/require-await": "off",
  },
});
