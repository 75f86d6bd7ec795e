"""[002] Wu, Fredrikson, Wu, Jha and Naughton, private regression models for warfarin dosing."""
